// A thread with one order ends with it, and the next one loads the sources again. Here one that has answered waits for the next.
const READER = new URL('../../src/trust-lists/read-thread.ts', import.meta.url).href

/**
 * Each list of trust is read by such a thread: 40 ms of processor time for each of hundreds. The thread itself is in
 * test/trust-lists/read-list.test.ts.
 */
export function keepReader(): void {
  const Thread = globalThis.Worker
  const hireReader = keeping(() => new Thread(READER, { smol: true }))
  globalThis.Worker = new Proxy(Thread, {
    construct: (_, [place, options]) => (place === READER ? hireReader() : new Thread(place, options)),
  })
}

export function keeping(hire: () => Worker): () => Worker {
  const idle: Worker[] = []
  return () => lent(idle.pop() ?? hire(), thread => idle.push(thread))
}

/** As if it were new. Its end is the end of the loan, if it has answered; otherwise it is its own. */
function lent(thread: Worker, giveBack: (thread: Worker) => void): Worker {
  const loan = new AbortController()
  let hasAnswered = false
  thread.addEventListener('message', () => (hasAnswered = true), { signal: loan.signal })
  thread.addEventListener('close', () => (hasAnswered = false), { signal: loan.signal })
  const changed = {
    addEventListener: (type: string, listener: EventListener) => thread.addEventListener(type, listener, { signal: loan.signal }),
    postMessage: (message: unknown) => thread.postMessage(message),
    terminate() {
      loan.abort()
      if (hasAnswered) giveBack(thread)
      else thread.terminate()
    },
  }
  return changed as Partial<Worker> as Worker
}
