import { h, show } from "./dom.js";
export async function open(place) { show(place, h("p", {}, "soon")); }
