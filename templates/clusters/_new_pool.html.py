BBBB BBBB
 #

XXXXXXXXXXXXXX XXXXXXXXXXXXX
               XXXXXXX pgettext(u'heading', u'New pool') X
               XXXXXXXX pgettext(u'button', u'Create pool') X
               XXXXXXXXXXXXX
               XXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX
  XX XXXXXXXXXXXX XXXXXXX gettext(u'Once a cluster has a pool, teams can use it only through its pools.') XXXX
  XXXX XXXXXXXXXXXXX XXXXXXXXX
    XXXXXXXX XXXXXXX pgettext(u'field', u'Name') X
             XXXXXX gettext(u'Jobs name it as policy.pool.') XX
      XXXXXX XXXXXXXXXXX
             XXXXXXXXXXX
             XXXXXXXXXXXXXX
             XXXXXXXX
             XXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX
             XXXXXXX gettext(u'Use lowercase letters, digits and hyphens. Begin and end with a letter or digit.') X
             XXXXXXXXXXXXXXXXXXX
    XXXXXXXXXX
    BBBBBBB BBBBBBBBBBBBBBBBBBBBBBBBBBBB BBBB BBBBBBBBBBBBBBBBBBBBBBBBBB
  XXXXXX
XXXXXXXXXXXXXXXX
