// The page of an interview with a new link: the link can be copied.

const link = document.getElementById("link");
const copy = document.getElementById("copy");

if (link) {
  copy.hidden = false;
  copy.addEventListener("click", () => {
    // Selected words can be copied without HTTPS as well.
    link.select();
    copy.textContent = document.execCommand("copy") ? "Copied" : "Press Ctrl-C";
  });
}
