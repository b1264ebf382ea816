// The pages of the handbook, in the order of the navigation. Each is a file inside the program, read when it is shown.
import backupAndRestore from './backup-and-restore.md' with { type: 'file' }
import benchmarks from './benchmarks.md' with { type: 'file' }
import browserElement from './browser-element.md' with { type: 'file' }
import commands from './commands.md' with { type: 'file' }
import concepts from './concepts.md' with { type: 'file' }
import configuration from './configuration.md' with { type: 'file' }
import dashboard from './dashboard.md' with { type: 'file' }
import develop from './develop.md' with { type: 'file' }
import doctor from './doctor.md' with { type: 'file' }
import errors from './errors.md' with { type: 'file' }
import evidence from './evidence.md' with { type: 'file' }
import goingLive from './going-live.md' with { type: 'file' }
import install from './install.md' with { type: 'file' }
import logEvents from './log-events.md' with { type: 'file' }
import metrics from './metrics.md' with { type: 'file' }
import pageErrors from './page-errors.md' with { type: 'file' }
import postgres from './postgres.md' with { type: 'file' }
import privacy from './privacy.md' with { type: 'file' }
import recipeDigitalCredentials from './recipes/digital-credentials.md' with { type: 'file' }
import recipeKeycloak from './recipes/keycloak.md' with { type: 'file' }
import recipeLanVenue from './recipes/lan-venue.md' with { type: 'file' }
import recipePostgres from './recipes/postgres.md' with { type: 'file' }
import recipeReverseProxy from './recipes/reverse-proxy.md' with { type: 'file' }
import recipeShopify from './recipes/shopify.md' with { type: 'file' }
import recipeVerifyAWebhook from './recipes/verify-a-webhook.md' with { type: 'file' }
import recipeWoocommerce from './recipes/woocommerce.md' with { type: 'file' }
import redirect from './redirect.md' with { type: 'file' }
import retries from './retries.md' with { type: 'file' }
import sdk from './sdk.md' with { type: 'file' }
import security from './security.md' with { type: 'file' }
import start from './start.md' with { type: 'file' }
import templates from './templates.md' with { type: 'file' }
import threats from './threats.md' with { type: 'file' }
import till from './till.md' with { type: 'file' }
import tills from './tills.md' with { type: 'file' }
import tls from './tls.md' with { type: 'file' }
import troubleshooting from './troubleshooting.md' with { type: 'file' }
import trust from './trust.md' with { type: 'file' }
import upgrade from './upgrade.md' with { type: 'file' }
import verdict from './verdict.md' with { type: 'file' }
import verifications from './verifications.md' with { type: 'file' }
import webhooks from './webhooks.md' with { type: 'file' }

/** `slug` is the end of its address, and its name in "vidimus help"; `file` is read when it is shown. */
type PageFile = { slug: string; file: string }

export const GROUPS: readonly { title: string; pages: readonly PageFile[] }[] = [
  {
    title: 'Start',
    pages: [
      { slug: 'start', file: start },
      { slug: 'concepts', file: concepts },
    ],
  },
  {
    title: 'Developers',
    pages: [
      { slug: 'verifications', file: verifications },
      { slug: 'verdict', file: verdict },
      { slug: 'templates', file: templates },
      { slug: 'redirect', file: redirect },
      { slug: 'webhooks', file: webhooks },
      { slug: 'errors', file: errors },
      { slug: 'retries', file: retries },
      { slug: 'sdk', file: sdk },
      { slug: 'tills', file: tills },
      { slug: 'browser-element', file: browserElement },
    ],
  },
  {
    title: 'Merchants and staff',
    pages: [
      { slug: 'till', file: till },
      { slug: 'dashboard', file: dashboard },
      { slug: 'page-errors', file: pageErrors },
      { slug: 'going-live', file: goingLive },
      { slug: 'trust', file: trust },
      { slug: 'privacy', file: privacy },
    ],
  },
  {
    title: 'Operators',
    pages: [
      { slug: 'install', file: install },
      { slug: 'configuration', file: configuration },
      { slug: 'commands', file: commands },
      { slug: 'tls', file: tls },
      { slug: 'backup-and-restore', file: backupAndRestore },
      { slug: 'upgrade', file: upgrade },
      { slug: 'postgres', file: postgres },
      { slug: 'metrics', file: metrics },
      { slug: 'log-events', file: logEvents },
      { slug: 'doctor', file: doctor },
      { slug: 'troubleshooting', file: troubleshooting },
    ],
  },
  {
    title: 'Reviewers and contributors',
    pages: [
      { slug: 'security', file: security },
      { slug: 'threats', file: threats },
      { slug: 'evidence', file: evidence },
      { slug: 'benchmarks', file: benchmarks },
      { slug: 'develop', file: develop },
    ],
  },
  {
    title: 'Recipes',
    pages: [
      { slug: 'recipes/woocommerce', file: recipeWoocommerce },
      { slug: 'recipes/shopify', file: recipeShopify },
      { slug: 'recipes/digital-credentials', file: recipeDigitalCredentials },
      { slug: 'recipes/keycloak', file: recipeKeycloak },
      { slug: 'recipes/lan-venue', file: recipeLanVenue },
      { slug: 'recipes/verify-a-webhook', file: recipeVerifyAWebhook },
      { slug: 'recipes/reverse-proxy', file: recipeReverseProxy },
      { slug: 'recipes/postgres', file: recipePostgres },
    ],
  },
]

export const PAGES: readonly PageFile[] = GROUPS.flatMap(({ pages }) => pages)
