-- Sends one request over and over and writes the member FIELD of each answer to LIST: METHOD, TARGET, BODY_FILE, TOKEN.
wrk.method = os.getenv("METHOD") or "POST"
wrk.path = os.getenv("TARGET")
wrk.headers["Authorization"] = "Token " .. os.getenv("TOKEN")
wrk.headers["Content-Type"] = "application/json"
wrk.body = io.open(os.getenv("BODY_FILE"), "rb"):read("*a")
local pattern = '"' .. os.getenv("FIELD") .. '":"([^"]+)"'
local out = io.open(os.getenv("LIST"), "a")

function response(status, headers, body)
   local value = body:match(pattern)
   if value then out:write(value, "\n"); out:flush() end
end
