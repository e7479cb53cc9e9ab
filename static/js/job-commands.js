// A submission as the command and as the HTTP request that do the same. `parent` is the job that is
// rerun: in its own team, so that for another one the spec is submitted.
const quoted = (text) =>
  /^[\w.,:/=@%+-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;

export function asCommand({ yaml, team, parent, changes }) {
  if (parent) {
    const set = (changes ?? []).map(
      ({ field, after }) => ` \\\n  --set ${quoted(`${field}=${after ?? ""}`)}`,
    );
    return `muster job rerun ${parent}${set.join("")}`;
  }
  return `muster job submit - --team ${quoted(team)} <<'SPEC'\n${ended(yaml)}SPEC`;
}

export function asCurl({ yaml, team, parent, api }) {
  const url = parent ? `${api}/${parent}/rerun` : api;
  const body = JSON.stringify(parent ? { yaml } : { team, yaml }, null, 2);
  return [
    `curl -X POST ${quoted(url)}`,
    `-H "Authorization: Bearer $MUSTER_TOKEN"`,
    `-H 'Content-Type: application/json'`,
    `-d ${quoted(body)}`,
  ].join(" \\\n  ");
}

const ended = (text) => (text.endsWith("\n") ? text : `${text}\n`);
