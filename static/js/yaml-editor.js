// The YAML editor: CodeMirror in a shadow root, where its styles are constructed sheets and need no
// exception from the content security policy.
import * as cm from "../vendor/codemirror.js";
import { replacement } from "./spec-document.js";

const FROM_OUTSIDE = cm.Annotation.define();

const COLOURS = cm.HighlightStyle.define([
  { tag: [cm.tags.propertyName, cm.tags.definition(cm.tags.propertyName)], color: "var(--ansi-4)" },
  { tag: [cm.tags.string, cm.tags.content], color: "var(--text)" },
  { tag: [cm.tags.number, cm.tags.bool, cm.tags.null, cm.tags.atom], color: "var(--ansi-5)" },
  { tag: cm.tags.comment, color: "var(--text-3)" },
  { tag: [cm.tags.separator, cm.tags.punctuation, cm.tags.meta], color: "var(--text-2)" },
]);

const THEME = cm.EditorView.theme({
  "&": {
    border: "1px solid var(--line-strong)",
    borderRadius: "var(--radius)",
    backgroundColor: "var(--code-bg)",
    color: "var(--text)",
    fontSize: "13px",
  },
  "&.cm-focused": { outline: "2px solid var(--focus)", outlineOffset: "-1px" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "20px", minHeight: "360px" },
  ".cm-content": { padding: "8px 0", caretColor: "var(--text)" },
  ".cm-cursor": { borderLeftColor: "var(--text)" },
  ".cm-gutters": {
    backgroundColor: "transparent",
    borderRight: "1px solid var(--line)",
    color: "var(--text-3)",
  },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "var(--hover)" },
  ".cm-selectionBackground, &.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground":
    {
      backgroundColor: "var(--accent-soft)",
    },
  ".cm-tooltip": {
    border: "1px solid var(--line-strong)",
    borderRadius: "var(--radius)",
    backgroundColor: "var(--panel)",
    color: "var(--text)",
    font: "var(--s12)/16px var(--sans)",
    maxWidth: "420px",
  },
  ".cm-diagnostic-error": { borderLeftColor: "var(--failed)" },
  ".cm-diagnostic-info": { borderLeftColor: "var(--running)" },
});

// `onChange(text)` is called for every change by the person, `onSubmit` for Ctrl/⌘-Enter.
export function createEditor(host, { text, label, onChange, onSubmit }) {
  const root = host.attachShadow({ mode: "open" });
  const view = new cm.EditorView({
    parent: root,
    state: cm.EditorState.create({
      doc: text,
      extensions: [
        cm.keymap.of([
          { key: "Mod-Enter", run: () => (onSubmit(), true) },
          cm.indentWithTab,
          ...cm.defaultKeymap,
          ...cm.historyKeymap,
          ...cm.foldKeymap,
        ]),
        cm.lintGutter(),
        cm.lineNumbers(),
        cm.history(),
        cm.drawSelection(),
        cm.indentOnInput(),
        cm.bracketMatching(),
        cm.highlightActiveLine(),
        cm.highlightActiveLineGutter(),
        cm.indentUnit.of("  "),
        cm.EditorView.lineWrapping,
        cm.yaml(),
        cm.syntaxHighlighting(COLOURS),
        THEME,
        cm.EditorView.domEventHandlers({ beforeinput: replaceSelected }),
        cm.EditorView.contentAttributes.of({ "aria-label": label }),
        cm.EditorView.updateListener.of((update) => {
          const isOurs = update.transactions.some((t) => t.annotation(FROM_OUTSIDE));
          if (update.docChanged && !isOurs) onChange(update.state.doc.toString());
        }),
      ],
    }),
  });
  // Outside the shadow root the page's one-key shortcuts cannot see that a text is being edited.
  host.addEventListener("keydown", (event) => {
    if (!event.ctrlKey && !event.metaKey) event.stopPropagation();
  });
  return {
    // Replace the text, keeping the selection and the history of changes.
    setText(after) {
      const before = view.state.doc.toString();
      if (after !== before)
        view.dispatch({ changes: replacement(before, after), annotations: FROM_OUTSIDE.of(true) });
    },
    // Mark lines: [{ line, message, severity }]; errors without a line are on the first.
    mark(faults) {
      const { doc } = view.state;
      const found = faults.map(({ line, message, severity = "error" }) => {
        const { from, to, text: whole } = doc.line(Math.min(Math.max(line || 1, 1), doc.lines));
        const indent = whole.length - whole.trimStart().length;
        return { from: from + indent, to, severity, message };
      });
      view.dispatch(cm.setDiagnostics(view.state, found));
    },
    goTo(line) {
      const { from } = view.state.doc.line(Math.min(line, view.state.doc.lines));
      view.dispatch({ selection: { anchor: from }, scrollIntoView: true });
      view.focus();
    },
    focus: () => view.focus(),
  };
}

// The browser would give the text that replaces a selection an inline style, which the policy refuses.
function replaceSelected(event, view) {
  const { selection } = view.state;
  if (event.inputType !== "insertText" || !event.data || selection.main.empty) return false;
  event.preventDefault();
  view.dispatch(view.state.replaceSelection(event.data), { userEvent: "input.type" });
  return true;
}
