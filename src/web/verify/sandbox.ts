// Apart from the element: customers of live shops do not load it.
import { askSandbox } from '../shared/ask-sandbox.ts'

Object.assign(customElements.get('vidimus-verify') ?? {}, { askSandbox })
