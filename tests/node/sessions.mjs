// A session of the TypeScript SDK's client with the servers of a config, over stdio.
//
//     node sessions.mjs CONFIG '[["server", "tool", {"argument": 1}], ...]'
//
// It prints what it heard as JSON.
import { readFileSync } from "node:fs";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { outcome } from "./outcome.mjs";

const entries = JSON.parse(readFileSync(process.argv[2], "utf8")).mcpServers;
const clients = {};
const heard = { tools: {}, calls: [] };
for (const [name, entry] of Object.entries(entries)) {
  clients[name] = new Client({ name: "ts-client", version: "1.0.0" });
  await clients[name].connect(new StdioClientTransport(entry));
  heard.tools[name] = await clients[name].listTools();
}
for (const [server, tool, args] of JSON.parse(process.argv[3])) {
  heard.calls.push(await outcome(clients[server], tool, args));
}
for (const client of Object.values(clients)) await client.close();
console.log(JSON.stringify(heard));
