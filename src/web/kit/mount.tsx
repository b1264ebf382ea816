import { Component, type ComponentChildren, render } from 'preact'
import { useCommon } from '../shared/language.ts'
import { showOwnErrors } from '../shared/own-errors.ts'
import { Button } from './button.tsx'
import { Notice } from './notice.tsx'

/** Starts a page in its `#app`. */
export function mount(page: ComponentChildren): void {
  const place = document.getElementById('app')
  if (!place) throw new Error('a page has a place for its app')
  showOwnErrors()
  render(<Boundary>{page}</Boundary>, place)
}

/** Catches errors of our own and offers to reload. */
class Boundary extends Component<{ children: ComponentChildren }, { hasFailed: boolean }> {
  override state = { hasFailed: false }

  static override getDerivedStateFromError() {
    return { hasFailed: true }
  }

  /** The error still reaches the console. */
  override componentDidCatch(error: unknown) {
    reportError(error)
  }

  render() {
    return this.state.hasFailed ? <Broken /> : this.props.children
  }
}

function Broken() {
  const words = useCommon()
  return (
    <main class="broken stack">
      <Notice tone="no" alert>
        {words.broken}
      </Notice>
      <div>
        <Button kind="primary" onClick={() => location.reload()}>
          {words.reload}
        </Button>
      </div>
    </main>
  )
}
