BBBB BBBB BBBBBB
 #

XXXXXXXX XXXXXXX pgettext(u'heading', u'Clusters') X
         XXXXXXXFFFFFFX
         XXXXXXXXXXXXXXXXXXXXXXXXX
         XXXXXX pgettext(u'link', u'All clusters') X
         XXXXXXXXXX
  XXXX XXXXXXXXXXXXXXXXXXX
    XXXXXX XXXXXXXXXXX XXXXXXX
      XXXXXXX
        XXXX
          XXXX pgettext(u'column', u'Cluster') XXXXX
          XXXX pgettext(u'column', u'State') XXXXX
          XXX XXXXXXXXXXXX pgettext(u'column', u'GPUs allocated') XXXXX
          XXX XXXXXXXXXXXX pgettext(u'column', u'Utilization') XXXXX
        XXXXX
      XXXXXXXX
      XXXXXXX
        BBB B BB BBBBBBBB
          XXX XXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX
            XXX XXXXXXXXXXXXX
              XX XXXXXXXXXXXXX XXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX
            XXXXX
            XXXX
              XXXXXXXX XXXXXXXXXXXX XXXXXXXX XXXXXXXXXXXXXXXXXXXXXX XX
            XXXXX
            XXX XXXXXXXXXX XXXXXXX
                XXXXXXXXXXXX pgettext(u'column', u'GPUs allocated') XX
              FFFFFFFFFFFFFFFFFFFFFFFFF
              XXXXX XXXXXXXXXXXXXXX FFFFFFFFFFFFFFFFXXXXXXX
            XXXXX
            XXX XXXXXXXXXXX
                XXXXXXXXXXXX pgettext(u'column', u'Utilization') XXFFFFFFFFFFFFFFXXXXX
          XXXXX
        BBBBBB
      XXXXXXXX
    XXXXXXXX
  XXXXXX
XXXXXXXXXX
