# Shows the page of LOG in BROWSER without a window, at two widths, and measures it there: the lanes, their bars, and that nothing
# stands out of the page. Leaves the screenshots in FOLDER.
cmake_minimum_required(VERSION 3.24)

file(REMOVE_RECURSE ${FOLDER})
file(MAKE_DIRECTORY ${FOLDER})
execute_process(COMMAND ${PROGRAM} --page ${FOLDER}/report.html ${LOG} RESULT_VARIABLE status OUTPUT_QUIET ERROR_VARIABLE errors)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "it ended with ${status}\n${errors}")
endif()

# show(<page> <options>...)
function(show page)
  execute_process(
    COMMAND ${BROWSER} --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --disable-quic --no-first-run
      --disable-background-networking --disable-component-update --disable-sync --hide-scrollbars
      --allow-file-access-from-files --user-data-dir=${FOLDER}/profile ${ARGN} file://${FOLDER}/${page}
    RESULT_VARIABLE status OUTPUT_VARIABLE printed ERROR_VARIABLE errors)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${BROWSER} ended with ${status}\n${printed}${errors}")
  endif()
  set(printed "${printed}" PARENT_SCOPE)
endfunction()

# The report runs no script, so another page looks into it.
file(WRITE ${FOLDER}/measure.html [[<!DOCTYPE html>
<title>measure</title>
<iframe src="report.html" width="1280" height="900"></iframe>
<iframe src="report.html" width="480" height="900"></iframe>
<script>
onload = () => {
  const measured = [...document.querySelectorAll("iframe")].map((frame) => {
    const page = frame.contentDocument;
    const box = (element) => element.getBoundingClientRect();
    const lanes = [...page.querySelectorAll("details.lane")];
    const bars = lanes.map((lane) => [...lane.querySelectorAll("svg.track .attempt rect")].map(box));
    const in_order = bars.every((lane) => lane.every((bar, i) => i === 0 || lane[i - 1].right <= bar.left));
    const visible = bars.flat().filter((bar) => bar.width >= 2 && bar.height >= 10 && bar.left >= 0 && bar.right <= frame.width);
    const apart = lanes.every((lane, i) => i === 0 || box(lanes[i - 1]).bottom <= box(lane).top);
    const inside = page.documentElement.scrollWidth <= Number(frame.width);
    const deadlines = [...page.querySelectorAll(".lane .deadline line")].filter((line) => box(line).height > 10);
    return `width ${frame.width}: ${lanes.length} lanes, ${apart ? "apart" : "UPON ONE ANOTHER"}, ` +
      `${visible.length} of ${bars.flat().length} bars visible, ${in_order ? "in order" : "UPON ONE ANOTHER"}, ` +
      `${deadlines.length} deadlines, ${inside ? "all inside" : "WIDER THAN THE WINDOW"}`;
  });
  document.title = measured.join("; ");
};
</script>
]])
show(measure.html --dump-dom)
foreach(width IN ITEMS 1280 480)
  set(wanted "width ${width}: 5 lanes, apart, 11 of 11 bars visible, in order, 3 deadlines, all inside")
  string(FIND "${printed}" "${wanted}" at)
  if(at EQUAL -1)
    string(REGEX MATCH "<title>[^<]*" found "${printed}")
    message(FATAL_ERROR "the browser measured\n${found}\nand not\n${wanted}")
  endif()
endforeach()

foreach(width IN ITEMS 1280 480)
  set(picture ${FOLDER}/${width}.png)
  show(report.html --screenshot=${picture} --window-size=${width},1400)
  file(READ ${picture} header LIMIT 24 HEX)
  math(EXPR wanted "${width}" OUTPUT_FORMAT HEXADECIMAL)
  string(REGEX REPLACE "^0x" "00000" wanted "${wanted}")
  string(REGEX MATCH "........$" wanted "${wanted}")
  # A PNG's signature, the length and name of its first chunk, and in that the width.
  if(NOT header MATCHES "^89504e470d0a1a0a0000000d49484452${wanted}")
    message(FATAL_ERROR "${picture} is no picture of width ${width}: ${header}")
  endif()
endforeach()
