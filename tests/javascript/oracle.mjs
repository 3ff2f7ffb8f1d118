// Answers what @langchain/core gives: a JSON case a line on stdin, a JSON answer a line on stdout.
// Run as `node oracle.mjs FOLDER`, where FOLDER has the library in its node_modules.

import { createRequire } from "node:module";
import { join } from "node:path";
import { createInterface } from "node:readline";

const load = createRequire(join(process.argv[2], "package.json"));
const { AIMessageChunk } = load("@langchain/core/messages");
const { parsePartialJson } = load("@langchain/core/output_parsers");
const { compare } = load("@langchain/core/utils/json_patch");
const { JsonOutputFunctionsParser } = load("@langchain/core/output_parsers/openai_functions");

// The library warns where it adds what it does not know; the answers say it too.
console.warn = () => {};

const FIELDS = [
  "content",
  "tool_call_chunks",
  "tool_calls",
  "invalid_tool_calls",
  "additional_kwargs",
  "response_metadata",
  "usage_metadata",
  "id",
];

const ANSWERS = {
  /** After each chunk: the chunk as an event holds it, and the sum so far, or why the library refuses the chunk. */
  sum({ chunks }) {
    const steps = [];
    let sum;
    for (const fields of chunks) {
      let event;
      try {
        const chunk = new AIMessageChunk(fields);
        event = JSON.parse(JSON.stringify(chunk));
        sum = sum === undefined ? chunk : sum.concat(chunk);
      } catch (error) {
        steps.push({ event, refused: String(error.message ?? error) });
        break;
      }
      steps.push({ event, sum: Object.fromEntries(FIELDS.map((name) => [name, sum[name]])) });
    }
    return steps;
  },

  /** What the pieces, joined up to each of them, parse as. */
  partial({ pieces }) {
    let text = "";
    return pieces.map((piece) => parsePartialJson((text += piece)));
  },

  /** The call that the pieces, joined up to each of them, are the arguments of: its `args`, null where it is invalid. */
  arguments({ pieces }) {
    let text = "";
    return pieces.map((piece) => {
      const chunks = [{ id: "c", name: "f", index: 0, args: (text += piece) }];
      return new AIMessageChunk({ content: "", tool_call_chunks: chunks }).tool_calls[0]?.args ?? null;
    });
  },

  /** The operations from one value to another. */
  compare({ before, after }) {
    return compare(before, after);
  },

  /** What a parser streams for each chunk: a list of what it yielded, undefined left out. */
  async parser({ chunks, options }) {
    const given = [];
    async function* source() {
      for (const fields of chunks) {
        given.push([]);
        yield new AIMessageChunk(fields);
      }
    }
    for await (const part of new JsonOutputFunctionsParser(options).transform(source())) {
      if (part !== undefined) given.at(-1).push(part);
    }
    return given;
  },
};

/** JSON with the numbers that JSON cannot write, in the spelling that Python's reader takes. */
function written(value) {
  if (typeof value === "number" && !Number.isFinite(value)) return String(value);
  if (Array.isArray(value)) return `[${value.map(written).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value ?? null);
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  return `{${members.map(([key, member]) => `${JSON.stringify(key)}:${written(member)}`).join(",")}}`;
}

for await (const line of createInterface({ input: process.stdin, crlfDelay: Infinity })) {
  const { ask, ...given } = JSON.parse(line);
  process.stdout.write(`${written(await ANSWERS[ask](given))}\n`);
}
