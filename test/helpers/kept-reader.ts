// A thread that reads a list of trust ends with it, and the next one loads the sources again: 40 ms of processor time for each of
// hundreds of lists. Here one that has answered waits for the next list. test/trust-lists/read-list.test.ts has the thread itself.
const READER = new URL('../../src/trust-lists/read-thread.ts', import.meta.url).href

const idle: Worker[] = []

export function keepReader(): void {
  globalThis.Worker = new Proxy(globalThis.Worker, {
    construct: (Thread, [place, options]) =>
      place === READER ? lent(idle.pop() ?? new Thread(READER, options)) : new Thread(place, options),
  })
}

/** As if it were new. Its end is the end of the loan, if it has answered; otherwise it is its own. */
function lent(reader: Worker): Worker {
  const loan = new AbortController()
  let hasAnswered = false
  reader.addEventListener('message', () => (hasAnswered = true), { signal: loan.signal })
  reader.addEventListener('close', () => (hasAnswered = false), { signal: loan.signal })
  const changed = {
    addEventListener: (type: string, listener: EventListener) => reader.addEventListener(type, listener, { signal: loan.signal }),
    postMessage: (message: unknown) => reader.postMessage(message),
    terminate() {
      loan.abort()
      if (hasAnswered) idle.push(reader)
      else reader.terminate()
    },
  }
  return changed as Partial<Worker> as Worker
}
