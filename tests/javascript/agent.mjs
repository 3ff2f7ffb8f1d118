// An agent of LangChain.js whose model is a fake one: its events as JSON lines, posted to a URL, else to stdout.
// Run as `node agent.mjs FOLDER [URL]`, where FOLDER has the library in its node_modules. On stderr: what it held.

import { createRequire } from "node:module";
import { join } from "node:path";

const load = createRequire(join(process.argv[2], "package.json"));
const { AIMessageChunk } = load("@langchain/core/messages");
const { BaseChatModel } = load("@langchain/core/language_models/chat_models");
const { ChatGenerationChunk } = load("@langchain/core/outputs");

const piece = (args, head = {}) =>
  new AIMessageChunk({ id: "m1", content: "", tool_call_chunks: [{ index: 0, args, type: "tool_call_chunk", ...head }] });
const CHUNKS = [piece("", { id: "call_1", name: "get_weather" }), piece('{"city": "Os'), piece('lo"}')];

class Model extends BaseChatModel {
  _llmType() {
    return "pieces";
  }

  async _generate() {
    throw new Error("it only streams");
  }

  async *_streamResponseChunks(messages, options, run) {
    for (const message of CHUNKS) {
      await new Promise((resolve) => setTimeout(resolve, 5));
      const chunk = new ChatGenerationChunk({ message, text: "" });
      yield chunk;
      await run?.handleLLMNewToken("", undefined, undefined, undefined, undefined, { chunk });
    }
  }
}

let sum;
async function* lines() {
  for await (const event of new Model({}).streamEvents([["human", "The weather in Oslo?"]], { version: "v2" })) {
    if (event.event === "on_chat_model_stream") {
      sum = sum === undefined ? event.data.chunk : sum.concat(event.data.chunk);
    }
    yield `${JSON.stringify(event)}\n`;
  }
}

if (process.argv[3] === undefined) {
  for await (const line of lines()) process.stdout.write(line);
} else {
  const body = ReadableStream.from(lines()).pipeThrough(new TextEncoderStream());
  const headers = { "content-type": "application/x-ndjson" };
  const answer = await fetch(process.argv[3], { method: "POST", body, headers, duplex: "half" });
  if (!answer.ok) throw new Error(await answer.text());
}
process.stderr.write(JSON.stringify({ id: sum.id, tool_calls: sum.tool_calls, tool_call_chunks: sum.tool_call_chunks }));
