import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

const RECIPES = resolve(import.meta.dir, '../../src/handbook/pages/recipes')

/** The block of a recipe whose first line carries the mark. */
export function recipeBlock(page: string, mark: string): string {
  const blocks = readFileSync(join(RECIPES, page), 'utf8').matchAll(/^```\w*\n([\s\S]*?)^```$/gm)
  const marked = [...blocks].map(([, code = '']) => code).filter(code => code.split('\n', 1)[0]?.includes(`recipe (${mark})`))
  if (marked.length !== 1) throw new Error(`${page} has ${marked.length} blocks marked "recipe (${mark})"`)
  return marked[0] ?? ''
}

/** The lines `NAME=value` of a block. */
export const environmentOf = (block: string): Record<string, string> =>
  Object.fromEntries([...block.matchAll(/^(\w+)=(.*)$/gm)].map(([, name = '', value = '']) => [name, value]))

/** The settings of the server for Shopify, as its .env.example gives them. */
export const environmentOfShopify = (): Record<string, string> =>
  environmentOf(readFileSync(resolve(import.meta.dir, '../../src/sdk/shopify/.env.example'), 'utf8'))

/** A part of a recipe that a test has to change; it must be there. */
export function replaced(text: string, from: string, to: string): string {
  if (!text.includes(from)) throw new Error(`the recipe has no "${from}"`)
  return text.replaceAll(from, to)
}
