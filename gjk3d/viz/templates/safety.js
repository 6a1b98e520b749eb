// On a narrow screen, a row that is tapped scrolls to its picture.
(function () {
  const view = document.getElementById("view");
  for (const link of document.querySelectorAll(".safety a")) {
    link.addEventListener("click", () => {
      if (window.matchMedia("(max-width: 820px)").matches) view.scrollIntoView();
    });
  }
})();
