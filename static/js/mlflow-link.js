// MLflow's clients print links such as /mlflow/home/vision/#/experiments/5/runs/01a2…, which lead to
// the list of experiments. A browser keeps what follows #, so the page of the run can be opened.
const found = /^#\/experiments\/(\d+)(?:\/runs\/([0-9a-f]{32}))?/.exec(location.hash);
if (found) location.replace(found[2] ? `runs/${found[2]}` : `experiments/${found[1]}`);
