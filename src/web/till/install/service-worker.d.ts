/** Its text, served by shell.ts. */
declare const text: string
export default text
