import { VidimusError } from '../../src/sdk/client.ts'

/** The VidimusError of a call; anything else fails the test. */
export async function failure(call: Promise<unknown>): Promise<VidimusError> {
  const error = await call.then(
    () => new Error('it resolved'),
    error => error,
  )
  if (error instanceof VidimusError) return error
  throw error
}
