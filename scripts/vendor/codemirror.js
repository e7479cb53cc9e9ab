// The part of CodeMirror 6 that static/js uses: the YAML editor. One bundle, because two copies of @codemirror/state break it.
export { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
export { yaml } from "@codemirror/lang-yaml";
export {
  HighlightStyle,
  bracketMatching,
  foldGutter,
  foldKeymap,
  indentOnInput,
  indentUnit,
  syntaxHighlighting,
} from "@codemirror/language";
export { lintGutter, setDiagnostics } from "@codemirror/lint";
export { Annotation, Compartment, EditorState, StateEffect } from "@codemirror/state";
export {
  EditorView,
  drawSelection,
  highlightActiveLine,
  highlightActiveLineGutter,
  keymap,
  lineNumbers,
  placeholder,
} from "@codemirror/view";
export { tags } from "@lezer/highlight";
