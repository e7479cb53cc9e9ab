// Set the theme before the first paint, so that pages do not flash.
(() => {
  const saved = localStorage.getItem("theme");
  if (saved) document.documentElement.dataset.theme = saved;
})();
