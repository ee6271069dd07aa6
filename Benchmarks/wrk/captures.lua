-- Makes captures that are ready to be submitted, and writes their ids to LIST: each is started with BODY_FILE, then gets
-- the picture IMAGE for each of REGIONS. Works in steps: an answer to one request makes the next.
local base = os.getenv("BASE")
local token = "Token " .. os.getenv("TOKEN")
local start = io.open(os.getenv("BODY_FILE"), "rb"):read("*a")
local image = io.open(os.getenv("IMAGE"), "rb"):read("*a")
local regions = {}
for region in os.getenv("REGIONS"):gmatch("%S+") do regions[#regions + 1] = region end
local out = io.open(os.getenv("LIST"), "a")
local waiting, uploaded = {}, {}

function request()
   local step = table.remove(waiting)
   if step then
      return wrk.format("PUT", base .. "/sdk/captures/" .. step.id .. "/images/" .. step.region,
         { ["Authorization"] = token, ["X-Request-Id"] = step.id }, image)
   end
   return wrk.format("POST", base .. "/sdk/captures", { ["Authorization"] = token, ["Content-Type"] = "application/json" }, start)
end

function response(status, headers, body)
   local id = body:match('"capture_id":"([^"]+)"')
   if status == 201 and id then
      for _, region in ipairs(regions) do waiting[#waiting + 1] = { id = id, region = region } end
   elseif status == 200 then
      id = headers["X-Request-Id"] or headers["x-request-id"]
      uploaded[id] = (uploaded[id] or 0) + 1
      if uploaded[id] == #regions then uploaded[id] = nil; out:write(id, "\n"); out:flush() end
   end
end
