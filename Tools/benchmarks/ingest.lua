-- For wrk: one PUT of a new message per request, to the path that the environment names.
local path = os.getenv("BENCH_PATH")
local counter = 0

function setup(thread)
  counter = counter + 1
  thread:set("number", counter)
end

function init(args)
  math.randomseed(os.time() * 1000 + number * 7919 + tonumber(os.getenv("BENCH_ROUND")) * 104729)
  wrk.method = "PUT"
  wrk.headers["Authorization"] = "Bearer " .. os.getenv("BENCH_TOKEN")
  wrk.headers["Content-Type"] = "application/json"
  wrk.body = '{"text":"' .. os.getenv("BENCH_TEXT") .. '"}'
end

local function word()
  return math.random(0, 65535)
end

function request()
  local id = string.format("%04x%04x-%04x-4%03x-8%03x-%04x%04x%04x",
    word(), word(), word(), word() % 4096, word() % 4096, word(), word(), word())
  return wrk.format(nil, path .. id)
end
