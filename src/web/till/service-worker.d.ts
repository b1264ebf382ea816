/** Its text, for the server to hand out. */
declare const text: string
export default text
