import { LinkButton } from '../kit/button.tsx'
import { Page } from './page.tsx'
import { hrefTo, useRoute } from './route.tsx'
import { Audit } from './views/audit.tsx'
import { Devices } from './views/devices.tsx'
import { GoLive } from './views/go-live.tsx'
import { Keys } from './views/keys.tsx'
import { Overview } from './views/overview.tsx'
import { Settings } from './views/settings.tsx'
import { TemplateEditor } from './views/template-editor.tsx'
import { Templates } from './views/templates.tsx'
import { Trust } from './views/trust.tsx'
import { Verifications } from './views/verifications.tsx'
import { Webhooks } from './views/webhooks.tsx'
import { useDashboardWords } from './words.ts'

export function View() {
  const { view, id } = useRoute()
  switch (view) {
    case 'overview':
      return <Overview />
    case 'verifications':
      return <Verifications id={id} />
    case 'keys':
      return <Keys />
    case 'devices':
      return <Devices />
    case 'templates':
      return <Templates chosen={id} />
    case 'template-editor':
      return <TemplateEditor templateKey={id} />
    case 'webhooks':
      return <Webhooks id={id} />
    case 'trust':
      return <Trust />
    case 'go-live':
      return <GoLive />
    case 'audit':
      return <Audit />
    case 'settings':
      return <Settings tab={id} />
    default:
      return <Nowhere />
  }
}

function Nowhere() {
  const words = useDashboardWords()
  return (
    <Page title={words.nowhere}>
      <div>
        <LinkButton href={hrefTo('')}>{words.toOverview}</LinkButton>
      </div>
    </Page>
  )
}
