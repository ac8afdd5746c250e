// What a call of the TypeScript SDK's client gave: a result or an error, and its progress.
export async function outcome(client, name, args) {
  const progress = [];
  try {
    const onprogress = (step) => progress.push(step);
    const result = await client.callTool({ name, arguments: args }, undefined, { onprogress });
    return { result, progress };
  } catch (error) {
    return { error: { code: error.code, message: error.message, data: error.data }, progress };
  }
}
