BBBB BBBB BBBBBB
 #

XXXXXXXX XXXXXXX gettext(u'Nodes out of service') X
         XXXXXXXX
         XXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX
         XXXXXX pgettext(u'link', u'All') X
         XXXXXXXXXX
  BB BBBBB
    XXXX XXXXXXXXXXXXXXXXXXX
      XXXXXX XXXXXXXXXXX XXXXXXX
        XXXXXXX
          XXXX
            XXXX pgettext(u'column', u'Node') XXXXX
            XXXX pgettext(u'column', u'State') XXXXX
            XXXX pgettext(u'column, why', u'Reason') XXXXX
          XXXXX
        XXXXXXXX
        XXXXXXX
          BBB B BB BBBBB
            XXX XXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX
              XXX XXXXXXXXXXXXX
                XX XXXXXXXXXXXXX
                   XXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX
                XXXXX XXXXXXXXXXXXXXXXXXXXX
              XXXXX
              XXXX
                XXXXXXXX XXXXXXXXX XXXXXXXX XX
              XXXXX
              XXX XXXXXXXXXX XXXXX XXXXXXXFFFFFFFFFFXXFFFFFFFFFFFFFFFFFFFFFXXXXX
            XXXXX
          BBBBBB
        XXXXXXXX
      XXXXXXXX
    XXXXXX
  BBBB
    XX XXXXXXXXXXX XXXXX XXXXXXX gettext(u'All nodes are ready.') XXXX
  BBBBB
XXXXXXXXXX
