BBBB BBBB BBBBBB
 #

XXXXXXXX XXXXXXX pgettext(u'field', u'Label matchers') X
         XXXXXX gettext(u'Prometheus only: which GPUs are those of this cluster') XX
  XXXXXX XXXXXXXXXXX
         XXXXXXXXXXXXXXX
         XXXXXXXXXXXX
         XXXXXXXXXXXXXXX
         XXXXXXXXXXXXXXXXXX
         XXXXXXXX
         XXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX
XXXXXXXXXX
XXXXXXXX XXXXXXX pgettext(u'field', u'Every (seconds)') XX
  XXXXXX XXXXXXXXXXXXX
         XXXXXXXXXXXXXXX
         XXXXXXX
         XXXXXXXXXX
         XXXXXXXXX
XXXXXXXXXX
XXXXXXXX XXXXXXX pgettext(u'field', u'Bearer token') X
         XXXXXXBB BBBBBBBBB gettext(u'Empty: the stored token stays') BBBB gettext(u'Optional; needs https') BBBBBXX
  XXXXXX XXXXXXXXXXXXXXX XXXXXXXXXXXX XXXXXXXXXXXXXXXXXXX
XXXXXXXXXX
XXXXXXXX XXXXXXX pgettext(u'field', u'Addresses') X
         XXXXXXXXXXXX
         XXXXXX gettext(u'One per line. Of exporters, {node} stands for the name of each node; of a Prometheus, its one address.') XX
  XXXXXXXXX XXXXXXXXXXX
            XXXXXXXX
            XXXXXXXX
            XXXXXXXXXXXX
            XXXXXXXXXXXXXXXXXX
            XXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX
XXXXXXXXXX
