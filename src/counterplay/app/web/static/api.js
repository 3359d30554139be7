// Requests to the server. An error reply becomes an Error with its sentence.
import { sleep } from "./dom.js";

const trouble = () => document.getElementById("trouble");

export class Refused extends Error {
  constructor(message, status, data) {
    super(message);
    this.status = status;
    this.data = data;
  }
}

async function ask(path, options) {
  let reply;
  for (let wait = 300; ; wait = Math.min(wait * 1.6, 3000)) {
    try {
      reply = await fetch(`/api/${path}`, { ...options, credentials: "same-origin" });
      break;
    } catch (error) {
      if (options.signal?.aborted) throw error;
      trouble().textContent = "The server does not answer; trying again. Hands are kept.";
      trouble().hidden = false;
      await sleep(wait);
    }
  }
  trouble().hidden = true;
  const data = await reply.json().catch(() => ({}));
  if (!reply.ok)
    throw new Refused(data.error || `the server answered ${reply.status}`, reply.status, data);
  return data;
}

export const get = (path, query = {}, signal) => {
  const given = Object.entries(query).filter(
    ([, value]) => value !== null && value !== undefined && value !== "",
  );
  const text = new URLSearchParams(given).toString();
  return ask(text ? `${path}?${text}` : path, { signal });
};
export const post = (path, data) =>
  ask(path, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(data),
  });
export const upload = (path, name, file) =>
  ask(`${path}?${new URLSearchParams({ name })}`, {
    method: "POST",
    headers: { "content-type": "application/octet-stream" },
    body: file,
  });
