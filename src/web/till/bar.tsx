import { useConnection } from './connection.ts'
import { useTillWords } from './words.ts'

/** The state of the connection. */
export function Bar() {
  const words = useTillWords()
  const connection = useConnection()
  const line = { reached: words.connected, unreachable: words.unreachable, no_network: words.noNetwork }[connection]
  return (
    <footer class={`bar line tight middle small ${connection === 'reached' ? 'ok' : 'no'}`}>
      <span class="dot" aria-hidden="true" />
      <span role="status">{line}</span>
    </footer>
  )
}
