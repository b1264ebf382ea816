declare module '*.sql' {
  const text: string
  export default text
}

/** With `{ type: 'file' }`: its path on the disk or inside the program. */
declare module '*.md' {
  const path: string
  export default path
}
