// How large a room may be, and that the folders inside one form no circle.
import { expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'

const SRC = resolve(import.meta.dir, '../src')
const FILES_MAX = 24

const FILES = readdirSync(SRC, { recursive: true, encoding: 'utf8' }).filter(path => /\.(?:tsx?|css)$/.test(path))

test(`no folder of code under src has more than ${FILES_MAX} files`, () => {
  const folders = Map.groupBy(FILES, file => dirname(file))
  expect(folders.size).toBeGreaterThan(40)
  expect(
    [...folders].filter(([, files]) => files.length > FILES_MAX).map(([folder, { length }]) => `${folder}: ${length}`),
  ).toEqual([])
})

test('folders inside a room import each other in one direction', () => {
  const arrows = new Set(FILES.filter(file => file.includes('/')).flatMap(arrowsOf))
  expect(arrows.size).toBeGreaterThan(40)
  expect([...arrows].filter(arrow => leadsBack(arrow, arrows))).toEqual([])
})

/** From folder to folder of one room, as `room/one room/other`. */
function arrowsOf(file: string): string[] {
  const from = folderOf(file)
  return [...readFileSync(join(SRC, file), 'utf8').matchAll(/(?:from |import\()'(\.[^']+)'/g)].flatMap(([, path]) => {
    const to = folderOf(relative(SRC, resolve(SRC, dirname(file), path!)))
    const [room] = from.split('/')
    return from !== to && from !== room && to !== room && to.split('/')[0] === room ? [`${from} ${to}`] : []
  })
}

const folderOf = (file: string): string =>
  file
    .split('/')
    .slice(0, 2)
    .filter(part => !part.includes('.'))
    .join('/')

function leadsBack(arrow: string, arrows: ReadonlySet<string>): boolean {
  const [from, to] = arrow.split(' ') as [string, string]
  const seen = new Set([to])
  for (const at of seen)
    for (const each of arrows) {
      const [start, end] = each.split(' ') as [string, string]
      if (start === at) seen.add(end)
    }
  return seen.has(from)
}
