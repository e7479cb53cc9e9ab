import js from "@eslint/js";
import globals from "globals";

export default [
  { ignores: ["build/", "static/vendor/", "static/js/words/", ".venv*/", "var/"] },
  js.configs.recommended,
  {
    rules: {
      eqeqeq: ["error", "always", { null: "ignore" }],
      "no-implicit-globals": "error",
      "no-control-regex": "off", // ANSI codes
      "no-restricted-syntax": [
        "error",
        {
          selector:
            "AssignmentExpression[left.property.name=/^(inner|outer)HTML$/][right.type!='Literal']",
          message: "Text enters a page through textContent.",
        },
      ],
      "no-var": "error",
      "prefer-const": ["error", { destructuring: "all" }],
      "object-shorthand": "error",
    },
  },
  { files: ["static/js/**"], languageOptions: { globals: globals.browser } },
  { files: ["static/js/theme.js"], languageOptions: { sourceType: "script" } },
  { files: ["scripts/**", "tests/**"], languageOptions: { globals: globals.node } },
];
