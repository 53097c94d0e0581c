# Of a program's callgrind file and its output: gate,path,compiler,level,who,instructions,allocations,rethrows for each call.
BEGIN { OFS = ","; split(program, build, "-O"); compiler = build[1]; sub(/^[a-z_]*-/, "", compiler); level = "O" build[2] }
/^desc: Trigger: / { name = sub(/^desc: Trigger: Client Request: /, "") ? $0 : "" }
/^summary: / { if (name != "") instructions[name] = substr($0, 10) }
/^count,/ {
  split($0, field, ",")
  name = field[2] "," field[3] "," field[4]
  if (!(("few " name) in instructions) || !(("many " name) in instructions)) { print "no dump of " name > "/dev/stderr"; exit 1 }
  calls = field[5]
  print field[2], field[3], compiler, level, field[4],
    sprintf("%.1f", (instructions["many " name] - instructions["few " name]) / calls), field[6] / calls, field[7] / calls
}
