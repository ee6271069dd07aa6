-- Uploads a picture that differs each time: the JPEG of BODY_FILE with a comment of its own, PUT to TARGET.
local head = { ["Authorization"] = "Token " .. os.getenv("TOKEN"), ["Content-Type"] = "image/jpeg" }
local picture = io.open(os.getenv("BODY_FILE"), "rb"):read("*a")
local start, rest = picture:sub(1, 2), picture:sub(3)
local target = os.getenv("TARGET")
local count = 0
local run = os.getenv("RUN") or "0"

function request()
   count = count + 1
   local comment = string.format("%s-%016d", run, count)
   local length = #comment + 2
   local segment = "\255\254" .. string.char(math.floor(length / 256), length % 256) .. comment
   return wrk.format("PUT", target, head, start .. segment .. rest)
end
