import type { Template } from '../../../dashboard/templates/schema.ts'
import { Icon } from '../../kit/icons.tsx'
import { Table } from '../../kit/table.tsx'
import { useLanguage } from '../../shared/language.ts'
import { Loaded } from '../parts/loaded.tsx'
import { Page } from '../parts/page.tsx'
import { Split } from '../parts/panel.tsx'
import { ButtonTo, goTo, hrefTo, Link } from '../route.tsx'
import { ForEditors } from '../session.tsx'
import { useTemplates } from '../template-names.ts'
import { useClaimName } from '../verifications/claim-list.tsx'
import { TemplateDetail } from './detail.tsx'
import { useTemplatesWords } from './words.ts'

export function Templates({ chosen }: { chosen: string }) {
  const words = useTemplatesWords()
  const templates = useTemplates()
  const template = templates.value?.data.find(({ key }) => key === chosen)
  const create = (
    <ForEditors>
      <ButtonTo kind="primary" href={hrefTo('template-editor')}>
        <Icon name="plus" />
        {words.create}
      </ButtonTo>
    </ForEditors>
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

/** Variants that accept only mdoc are folded away: few need them. */
function Lists({ templates, chosen }: { templates: readonly Template[]; chosen: string }) {
  const words = useTemplatesWords()
  const own = templates.filter(each => !each.builtin)
  const builtin = templates.filter(each => each.builtin)
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
      <h2 class="large">{title}</h2>
      <TemplateTable caption={title} templates={templates} chosen={chosen} />
    </section>
  )
}

function TemplateTable({ caption, templates, chosen }: { caption: string; templates: readonly Template[]; chosen: string }) {
  const words = useTemplatesWords()
  const language = useLanguage()
  const asked = useAsked()
  return (
    <Table
      caption={caption}
      columns={[
        {
          title: words.name,
          cell: ({ key, localized }) => (
            <Link class="row-button" href={hrefTo(`templates/${encodeURIComponent(key)}`)}>
              {localized.title[language]}
            </Link>
          ),
        },
        { title: words.asks, kind: 'grows', folds: 'tablet', cell: asked },
        { title: words.key, folds: 'tablet', cell: ({ key }) => <code>{key}</code> },
      ]}
      rows={templates}
      keyOf={({ key }) => key}
      isChosen={({ key }) => key === chosen}
    />
  )
}

/** All claims of a template, in one line. */
function useAsked(): (template: Template) => string {
  const words = useTemplatesWords()
  const name = useClaimName()
  return ({ asks }) => {
    const claims = [...new Set(asks.flatMap(each => each.claims))]
    return claims.length === 0 ? words.everything : [...new Set(claims.map(name))].join(', ')
  }
}
