export default {
  extends: "stylelint-config-standard",
  ignoreFiles: ["build/**", "static/vendor/**"],
  rules: {
    "color-no-hex": true, // colours are tokens, with a light and a dark value
    "keyframe-selector-notation": "percentage-unless-within-keyword-only-block",
    "media-feature-range-notation": "prefix",
    "property-no-vendor-prefix": [true, { ignoreProperties: ["text-size-adjust"] }],
    "selector-not-notation": null,
    "value-keyword-case": ["lower", { camelCaseSvgKeywords: true, ignoreProperties: [/^--/] }],
    // Rules of a component stay together, whatever their weight; Prettier decides about empty lines.
    "no-descending-specificity": null,
    "at-rule-empty-line-before": null,
    "comment-empty-line-before": null,
    "custom-property-empty-line-before": null,
    "declaration-empty-line-before": null,
    "rule-empty-line-before": null,
  },
  overrides: [
    // Names of Swagger UI.
    { files: ["static/css/api-docs.css"], rules: { "selector-class-pattern": null } },
    {
      files: ["static/css/tokens.css"],
      rules: { "color-no-hex": null, "color-hex-length": "long" },
    },
  ],
};
