// The guide is light or dark like the portal, before the first paint.
(() => {
  const system = matchMedia("(prefers-color-scheme: dark)");
  const show = () => {
    const theme = document.documentElement.dataset.theme;
    const isDark = theme ? theme === "dark" : system.matches;
    document.body.dataset.mdColorScheme = isDark ? "slate" : "default";
  };
  system.addEventListener("change", show);
  show();
})();
