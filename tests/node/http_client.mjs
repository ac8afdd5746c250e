// A session of the TypeScript SDK's client over Streamable HTTP.
//
//     node http_client.mjs URL '[["tool", {"argument": 1}], ...]'
//
// It prints what it heard as JSON.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { outcome } from "./outcome.mjs";

const [url, calls] = [process.argv[2], JSON.parse(process.argv[3])];
const client = new Client({ name: "ts-client", version: "1.0.0" });
const transport = new StreamableHTTPClientTransport(new URL(url));
await client.connect(transport);

const heard = {
  server: client.getServerVersion(),
  instructions: client.getInstructions(),
  tools: await client.listTools(),
  calls: [],
};
for (const [name, args] of calls) heard.calls.push(await outcome(client, name, args));
await transport.terminateSession();
await client.close();
console.log(JSON.stringify(heard));
