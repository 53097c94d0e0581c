# The gates. Reads the figures, writes every verdict to `table` and prints, of each path, the build that comes out worst.
BEGIN {
  FS = OFS = ","
  print "gate,path,compiler,level,limit,by hand,measured,ratio,verdict" > table
}
FNR == 1 { for (i in column) delete column[i]; for (i = 1; i <= NF; ++i) column[$i] = i; next }
{
  gate = $1; path = $2; build = $3 "," $4; who = $5
  at = gate SUBSEP path SUBSEP build
  if (!(at in seen)) { seen[at] = 1; order[++count] = at }
  if ("instructions" in column) {
    instructions[at, who] = $6; allocations[at, who] = $7; rethrows[at, who] = $8
  } else value[at, who] = $6
}

# judge(<limit in words>, <hand's figure>, <measured>, <holds?>, <how near to the limit, for the choice of the worst>)
function judge(at, limit, hand, measured, holds, nearness,   part, key) {
  split(at, part, SUBSEP)
  if (measured == "" || (limit !~ /^$|^[0-9]+ |^none|^no / && hand == "")) {
    print "a figure of " part[1] ", " part[2] ", " part[3] " is missing" > "/dev/stderr"
    broken = 1
  }
  ratio = hand + 0 > 0 ? sprintf("%.3f", measured / hand) : ""
  verdict = holds == "" ? "" : holds ? "holds" : "FALLS SHORT"
  if (holds == 0 && holds != "") failed = 1
  print part[1], part[2], part[3], limit, hand, measured, ratio, verdict >> table
  key = part[1] SUBSEP part[2] SUBSEP limit
  if (!(key in worst)) { worst[key] = nearness; keys[++rows] = key }
  if (!(key in line) || nearness > worst[key]) {
    worst[key] = nearness
    build = part[3]; sub(/,/, " -", build)
    line[key] = sprintf("%-6s %-44s %-20s %10s %10s %7s  %-18s %s", part[1], part[2], limit, hand, measured, ratio, build, verdict)
  }
}
function equal_allocations(at, hand, encore) { return allocations[at, "encore"] <= allocations[at, "hand"] }

END {
  for (i = 1; i <= count; ++i) {
    at = order[i]; split(at, part, SUBSEP); gate = part[1]; path = part[2]; build = part[3]
    hand = instructions[at, "hand"]; encore = instructions[at, "encore"]
    if (gate == "figure") judge(at, "", hand, encore == "" ? hand : encore, "", encore - hand)
    else if (gate == "P1") judge(at, "1.05x or +2", hand, encore, encore <= 1.05 * hand || encore <= hand + 2, encore - hand)
    else if (gate == "growth" && path ~ /threads/)
      judge(at, "flat: 1.3x", value[at, "hand"], value[at, "encore"], value[at, "encore"] <= 1.3 * value[at, "hand"], value[at, "encore"])
    else if (gate == "growth") judge(at, "flat: +2", hand, encore, encore <= hand + 2, encore - hand)
    else if (gate == "P2" && path == "bytes of code")
      judge(at, "equal", value[at, "hand"], value[at, "encore"], value[at, "encore"] == value[at, "hand"], value[at, "encore"])
    else if (gate == "P2") judge(at, "equal", hand, encore, encore <= hand, encore - hand)
    else if (gate == "P3")
      judge(at, "equal allocations", allocations[at, "hand"], allocations[at, "encore"], equal_allocations(at), allocations[at, "encore"])
    else if (gate == "P4") judge(at, "+20", hand, encore, encore <= hand + 20, encore - hand)
    else if (gate == "P5")
      judge(at, value[at, "allowed"] " clock reads", "", value[at, "encore"], value[at, "encore"] <= value[at, "allowed"], value[at, "encore"])
    else if (gate == "P6") {
      judge(at, "1.04x", hand, encore, encore <= 1.04 * hand, encore / hand)
      judge(at, "equal allocations", allocations[at, "hand"], allocations[at, "encore"], equal_allocations(at), allocations[at, "encore"])
    } else if (gate == "P7") {
      judge(at, "1.02x", hand, encore, encore <= 1.02 * hand, encore / hand)
      judge(at, "equal rethrows", rethrows[at, "hand"], rethrows[at, "encore"], rethrows[at, "encore"] <= rethrows[at, "hand"], rethrows[at, "encore"])
    } else if (gate == "P8") {
      judge(at, "+200 per failure", hand, encore, encore <= hand + 3 * 200, encore - hand)
      judge(at, "equal allocations", allocations[at, "hand"], allocations[at, "encore"], equal_allocations(at), allocations[at, "encore"])
    } else if (gate == "P9" && path ~ /^bytes of state/)
      judge(at, "32 bytes", "", value[at, "encore"], value[at, "encore"] <= 32, value[at, "encore"])
    else if (gate == "P9") {
      loop = instructions["figure" SUBSEP "empty loop" SUBSEP build, "hand"]
      judge(at, "40 instructions", "", encore - loop, encore - loop <= 40, encore - loop)
    } else if (gate == "P12" && path ~ /^bytes of a policy/)
      judge(at, "64 bytes", "", value[at, "encore"], value[at, "encore"] <= 64, value[at, "encore"])
    else if (gate == "P12")
      judge(at, "+96 bytes", value[at, "hand"], value[at, "encore"], value[at, "encore"] <= value[at, "hand"] + 96, value[at, "encore"] - value[at, "hand"])
    else if (gate == "P14") judge(at, "2x", hand, encore, encore <= 2 * hand, encore / hand)
    else if (gate == "P13") judge(at, "1.1x", hand, encore, encore <= 1.1 * hand, encore / hand)
    else if (gate == "P10" && path ~ /^writes/)
      judge(at, "no write", "", value[at, "encore"], value[at, "encore"] == 0, value[at, "encore"])
    else if (gate == "P10") judge(at, "1.3x", value[at, "hand"], value[at, "encore"], value[at, "encore"] <= 1.3 * value[at, "hand"], value[at, "encore"])
    else if (gate == "P11" && path ~ /^instructions/)
      judge(at, "1.10x", value[at, "hand"], value[at, "encore"], value[at, "encore"] <= 1.10 * value[at, "hand"], value[at, "encore"] / value[at, "hand"])
    else if (gate == "P11" && path ~ /^lines/)
      judge(at, "+3000 lines", value[at, "hand"], value[at, "encore"], value[at, "encore"] <= value[at, "hand"] + 3000, value[at, "encore"] / value[at, "hand"])
    else if (gate == "P11") judge(at, "none", "", value[at, "encore"], value[at, "encore"] == 0, value[at, "encore"])
    else { print "there is no gate " gate " for " path > "/dev/stderr"; exit 1 }
  }
  printf "%-6s %-44s %-20s %10s %10s %7s  %-18s %s\n", "gate", "path", "limit", "by hand", "measured", "ratio", "worst build", "verdict"
  for (i = 1; i <= rows; ++i) print line[keys[i]]
  exit broken ? 2 : failed
}
