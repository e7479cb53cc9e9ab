// Before the first paint, so that no page flashes in the other theme.
(() => {
  const saved = localStorage.getItem("theme");
  if (saved) document.documentElement.dataset.theme = saved;
})();
