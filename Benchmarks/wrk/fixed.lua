-- The same request over and over: METHOD, BODY_FILE, TOKEN, VERSION, TAG and TYPE come from the environment.
wrk.method = os.getenv("METHOD") or "GET"
local token = os.getenv("TOKEN")
if token then wrk.headers["Authorization"] = "Token " .. token end
local version = os.getenv("VERSION")
if version then wrk.headers["Api-Version"] = version end
local tag = os.getenv("TAG")
if tag then wrk.headers["If-None-Match"] = tag end
local file = os.getenv("BODY_FILE")
if file then
   wrk.body = io.open(file, "rb"):read("*a")
   wrk.headers["Content-Type"] = os.getenv("TYPE") or "application/json"
end
