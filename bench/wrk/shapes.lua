-- ever new shapes of statements: an alias that was never used before, each one twice in a row
package.path = (os.getenv("BENCH_LUA") or ".") .. "/?.lua;" .. package.path
local C = require("common"); done = C.done
local i = tonumber(os.getenv("BENCH_SEQ0") or "0")
request = function()
  i = i + 1
  return C.get(string.format("/brands?select=n%d:name&limit=1", math.floor(i / 2)))
end
