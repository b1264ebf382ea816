import type { Template } from '../../../dashboard/settings-schema.ts'
import { LinkButton } from '../../shared/button.tsx'
import { Icon } from '../../shared/icons.tsx'
import { useLanguage } from '../../shared/language.tsx'
import { Table } from '../../shared/table.tsx'
import { Loaded } from '../loaded.tsx'
import { Page } from '../page.tsx'
import { Split } from '../panel.tsx'
import { goTo, hrefTo, Link } from '../route.tsx'
import { useTemplates } from '../template-names.ts'
import { useDashboardWords } from '../words.ts'
import { useClaimName } from './claim-list.tsx'
import { TemplateDetail } from './template-detail.tsx'

export function Templates({ chosen }: { chosen: string }) {
  const words = useDashboardWords().templates
  const templates = useTemplates()
  const template = templates.value?.data.find(({ key }) => key === chosen)
  const create = (
    <LinkButton
      kind="primary"
      href={hrefTo('template-editor')}
      onClick={event => {
        event.preventDefault()
        goTo(hrefTo('template-editor'))
      }}
    >
      <Icon name="plus" />
      {words.create}
    </LinkButton>
  )
  return (
    <Page title={words.title} intro={words.intro} actions={create}>
      <Loaded data={templates}>
        {({ data }) => (
          <Split
            list={<Lists templates={data} chosen={chosen} />}
            panel={
              template && (
                <TemplateDetail
                  key={template.key}
                  template={template}
                  onRemoved={() => {
                    goTo(hrefTo('templates'))
                    templates.reload()
                  }}
                />
              )
            }
          />
        )}
      </Loaded>
    </Page>
  )
}

/** The variants that take mdoc only stand behind a fold: few need them. */
function Lists({ templates, chosen }: { templates: readonly Template[]; chosen: string }) {
  const words = useDashboardWords().templates
  const own = templates.filter(({ is_builtin }) => !is_builtin)
  const builtin = templates.filter(({ is_builtin }) => is_builtin)
  const variants = builtin.filter(isVariant)
  return (
    <>
      {own.length > 0 && <List title={words.own} templates={own} chosen={chosen} />}
      <List title={words.builtin} templates={builtin.filter(each => !isVariant(each))} chosen={chosen} />
      <details class="folded" open={variants.some(({ key }) => key === chosen)}>
        <summary>{words.mdocOnly}</summary>
        <TemplateTable caption={words.mdocOnly} templates={variants} chosen={chosen} />
      </details>
    </>
  )
}

const isVariant = ({ key }: Template): boolean => key.endsWith('_mdoc')

function List({ title, templates, chosen }: { title: string; templates: readonly Template[]; chosen: string }) {
  return (
    <section class="stack tight">
      <h2 class="list-title">{title}</h2>
      <TemplateTable caption={title} templates={templates} chosen={chosen} />
    </section>
  )
}

function TemplateTable({ caption, templates, chosen }: { caption: string; templates: readonly Template[]; chosen: string }) {
  const words = useDashboardWords().templates
  const language = useLanguage()
  const asked = useAsked()
  return (
    <div class="opens">
      <Table
        caption={caption}
        columns={[
          {
            title: <span class="first">{words.name}</span>,
            cell: ({ key, title }) => (
              <Link class="row-button first" href={hrefTo(`templates/${encodeURIComponent(key)}`)}>
                {title[language]}
              </Link>
            ),
          },
          {
            title: <span class="extra">{words.asks}</span>,
            kind: 'grows',
            cell: each => <span class="extra">{asked(each)}</span>,
          },
          { title: <span class="extra">{words.key}</span>, cell: ({ key }) => <code class="extra">{key}</code> },
        ]}
        rows={templates}
        keyOf={({ key }) => key}
        isChosen={({ key }) => key === chosen}
      />
    </div>
  )
}

/** Everything that a template may ask for, in a line. */
function useAsked(): (template: Template) => string {
  const words = useDashboardWords().templates
  const name = useClaimName()
  return ({ asks }) => {
    const claims = [...new Set(asks.flatMap(each => each.claims))]
    return claims.length === 0 ? words.everything : [...new Set(claims.map(name))].join(', ')
  }
}
