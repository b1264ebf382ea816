import { LinkButton } from '../kit/button.tsx'
import { Keys } from './developers/keys/keys.tsx'
import { LogIns } from './developers/log-ins/log-ins.tsx'
import { WebPages } from './developers/web-pages/web-pages.tsx'
import { Webhooks } from './developers/webhooks/webhooks.tsx'
import { GoLive } from './go-live/go-live.tsx'
import { Overview } from './overview/overview.tsx'
import { Page } from './parts/page.tsx'
import { hrefTo, useRoute } from './route.tsx'
import { Audit } from './settings/audit/audit.tsx'
import { Settings } from './settings/settings.tsx'
import { Trust } from './settings/trust/trust.tsx'
import { TemplateEditor } from './templates/editor.tsx'
import { Templates } from './templates/templates.tsx'
import { Devices } from './tills/devices.tsx'
import { Verifications } from './verifications/verifications.tsx'
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
    case 'tills':
      return <Devices />
    case 'templates':
      return <Templates chosen={id} />
    case 'template-editor':
      return <TemplateEditor templateKey={id} />
    case 'web-pages':
      return <WebPages />
    case 'log-ins':
      return <LogIns />
    case 'webhooks':
      return <Webhooks id={id} />
    case 'trust':
      return <Trust />
    case 'go-live':
      return <GoLive />
    case 'audit':
      return <Audit />
    case 'settings':
      return <Settings part={id} />
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
