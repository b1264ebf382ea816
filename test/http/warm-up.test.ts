import { expect, test } from 'bun:test'
import { createApp } from '../../src/app.ts'
import { FIRST, warmUp } from '../../src/service/warm-up.ts'
import { openInstallation } from '../helpers/app.ts'

/** The routes of a service that counts what it compiles. */
async function countedRoutes() {
  const { deps, logs } = await openInstallation()
  const compiled: string[] = []
  const routes = createApp(deps).routes.map(({ method, path }) => ({
    method,
    path,
    compile: () => void compiled.push(`${method} ${path}`),
  }))
  return { deps, logs, routes, compiled }
}

test('a service that nobody asks compiles each route that the first customer needs, once', async () => {
  const { deps, logs, routes, compiled } = await countedRoutes()
  await warmUp(deps, routes, () => false)
  expect(compiled.toSorted()).toEqual(FIRST.toSorted())
  expect(logs.filter(line => line.includes('service.not_warm'))).toEqual([])
})

test('a service that stops loads nothing more', async () => {
  const { deps, routes, compiled } = await countedRoutes()
  await warmUp(deps, routes, () => compiled.length === 2)
  expect(compiled).toHaveLength(2)
})

test('a piece that cannot be loaded is left to the first customer, and the others are loaded', async () => {
  const { deps, logs, routes, compiled } = await countedRoutes()
  const [broken, ...others] = routes.filter(({ method, path }) => FIRST.includes(`${method} ${path}`))
  const fails = () => {
    throw new Error('no room')
  }
  await warmUp(deps, [{ ...broken!, compile: fails }, ...others], () => false)
  expect(compiled).toHaveLength(FIRST.length - 1)
  expect(logs.filter(line => line.includes('service.not_warm'))).toHaveLength(1)
})
