declare module '*.sql' {
  const text: string
  export default text
}

/** The path on the disk or inside the program, with `{ type: 'file' }`. */
declare module '*.md' {
  const path: string
  export default path
}
