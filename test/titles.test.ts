import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'

/** Words of a condition, a place or a question: a title, or that of the `describe` around it, begins with its subject instead. */
const NO_SUBJECT =
  /^(?:test|browserTest|describe)\b.*?\(\s*['"`]((?:after|as|at(?! most)|behind|beside|between|by|for|from|if|in|is|it|of|on|once|over|that|then|there|under|what|whatever|when|where|which|while|whose|who|with|without)\b[^\n]*)/gm

test('every title of a test begins with its subject', () => {
  const files = [...new Bun.Glob('**/*.test.ts').scanSync({ cwd: import.meta.dir })]
  const found = files.flatMap(file =>
    [...readFileSync(`${import.meta.dir}/${file}`, 'utf8').matchAll(NO_SUBJECT)].map(([, title]) => `${file}: ${title}`),
  )
  expect(found).toEqual([])
})
