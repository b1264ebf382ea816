/** A note on what is accepted, if it holds; the words of the pages make a sentence of it. */
export const noteIf = <Code extends string, Values extends object>(holds: boolean, code: Code, values: Values) =>
  holds ? [{ code, values }] : []
