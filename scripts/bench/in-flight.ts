export async function json<Body = unknown>(url: string, init?: RequestInit): Promise<Body> {
  const response = await fetch(url, init)
  if (!response.ok) throw new Error(`${response.status} ${await response.text()}`)
  return (await response.json()) as Body
}

/** A few at a time, like customers. */
export async function inFlight<In, Out>(count: number, inputs: In[], act: (input: In) => Promise<Out>): Promise<Out[]> {
  const outputs = new Array<Out>(inputs.length)
  let next = 0
  const worker = async () => {
    while (next < inputs.length) {
      const index = next++
      outputs[index] = await act(inputs[index] as In)
    }
  }
  await Promise.all(Array.from({ length: count }, worker))
  return outputs
}
