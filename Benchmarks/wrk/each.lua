-- One request for each line of LIST, in PATH or BODY where {} stands, over and over unless ONCE is set. ONCE: a line is used
-- once, and what follows the last is counted as exhausted, which the caller takes for a failed measurement.
local method = os.getenv("METHOD") or "GET"
local path = os.getenv("TARGET")
local body = os.getenv("BODY")
local once = os.getenv("ONCE")
local token = os.getenv("TOKEN")
local headers = {}
if token then headers["Authorization"] = "Token " .. token end
local version = os.getenv("VERSION")
if version then headers["Api-Version"] = version end
if body then headers["Content-Type"] = "application/json" end

local lines = {}
for line in io.lines(os.getenv("LIST")) do lines[#lines + 1] = line end
local index = 0
exhausted = 0

local threads = {}
function setup(thread) threads[#threads + 1] = thread end

function request()
   index = index + 1
   if index > #lines then
      if once then exhausted = exhausted + 1 end
      index = 1
   end
   local line = lines[index]
   return wrk.format(method, (path:gsub("{}", function() return line end)), headers, body and (body:gsub("{}", function() return line end)))
end

function done(summary, latency, requests)
   for _, thread in ipairs(threads) do
      if thread:get("exhausted") > 0 then print("EXHAUSTED") end
   end
end
