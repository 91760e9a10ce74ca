// Requests to the server of this page; errors become sentences.

async function ask(method, path, body) {
  let answer;
  try {
    answer = await fetch(`/api/${path}`, {
      method,
      headers: body === undefined ? {} : { "content-type": "application/json" },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
  } catch {
    throw new Error("The server does not answer. Is `multifacet explore` still running?");
  }
  return read(answer);
}

async function read(answer) {
  const content = await answer.json().catch(() => ({ detail: `The server failed (${answer.status}).` }));
  if (!answer.ok) throw new Error(content.detail ?? `The server failed (${answer.status}).`);
  return content;
}

const at = (id) => `explorations/${encodeURIComponent(id)}`;

export const status = () => ask("GET", "status");
export const begin = (example) => ask("POST", "explorations", { example });
export const exploration = (id) => ask("GET", at(id));
export const preview = (id) => ask("GET", `${at(id)}/preview`);
export const configure = (id, setup) => ask("PUT", `${at(id)}/setup`, setup);
export const search = (id, settings) => ask("POST", `${at(id)}/jobs`, settings);
export const cancel = (id, job) => ask("DELETE", `${at(id)}/jobs/${job}`);
export const view = (id, name) => ask("GET", `${at(id)}/views/${name}`);
export const column = (id, name, wanted) => ask("GET", `${at(id)}/views/${name}/column?name=${encodeURIComponent(wanted)}`);
export const images = (id, name, height, width) =>
  ask("GET", `${at(id)}/views/${name}/images?height=${height}&width=${width}`);
export const agreement = (id) => ask("GET", `${at(id)}/agreement`);
export const runs = (id) => ask("GET", `${at(id)}/runs`);
export const compare = (one, other) => ask("GET",
  `${at(one.exploration)}/views/${one.id}/compare?other_id=${other.id}&other_exploration=${encodeURIComponent(other.exploration)}`);
export const step = (id, body) => ask("POST", `${at(id)}/steps`, body);
export const undo = (id) => ask("DELETE", `${at(id)}/steps/last`);
export const rows = (id, start, count) => ask("GET", `${at(id)}/rows?start=${start}&count=${count}`);
export const chosenRows = (id, wanted) => ask("POST", `${at(id)}/rows`, wanted);
export const code = (id) => ask("GET", `${at(id)}/code`);
export const fileAddress = (id, kind) => `/api/${at(id)}/files/${kind}`;
export const eventsAddress = (id, job) => `/api/${at(id)}/jobs/${job}/events`;

export async function upload(file, limit) {
  if (file.size > limit) {
    const size = Math.floor(limit / 2 ** 20);
    throw new Error(`${file.name} is larger than ${size} MB: start with its path, \`multifacet explore FILE\`.`);
  }
  let answer;
  try {
    answer = await fetch(`/api/uploads?name=${encodeURIComponent(file.name)}`, { method: "POST", body: file });
  } catch {
    throw new Error(`${file.name} could not be sent.`);
  }
  return read(answer);
}
