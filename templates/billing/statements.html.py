BBBBBBB BBBBBBBBBBB
BBBB BBBBBB BBBB BBBBBB
 #

BBBBB BBBBBXXXXXXXXXXXXXXXXBBBBBBBB
BBBBB BBBB
  XXXXX XXXXXXXXXXXXXXXX XXXXXXBBBBBB BBBBBBBBBBBBBBBXX
BBBBBBBB
BBBBB BBBBBBB
  BB BBBBBBBBBBBB BB BBBBBBBBBBBB
     gettext(u'What each month costs. Issued statements are to be paid.') 
  BBBB
     gettext(u'What each month cost, for information only.') 
  BBBBB
  XXXXXXX XXXXXXX pgettext(u'page title', u'Statements') X
          XXXXXX XX
  BBBBBBB BBBBBBBBBBBBBBBBBBBB BBBB BBBBBBBBBB
  XXXX XXXXXXXXXXXXXX
    XXXXXXXX XXXXXXX pgettext(u'heading', u'Drafts') XX
      BBB BBBBBB BBBBBBBBBB BB BBBBBB
        XX XXXXXXXXXX XXXXXXXXX
          XX XXXXXXBBB BBBBBBBBBBBBBBBBB BBBBBBBBBBBB BBBBBBBBBBBBBBBBBBBBBBXXFFFFFFF FFXXXX
          XXXXX XXXXXXXXXXXX XXXXXXX
            BB BBBBBBBBBB
               gettext(u'this month, so far') 
            BBBB
               pgettext(u'text, billing', u'not issued yet') 
            BBBBB
          XXXXXXX
        XXXX
      BBBBBB
    XXXXXXXXXX
    BB BBBB
      XXXX XXXXXXXXXXXXXXXXXXX
        XXXXXX XXXXXXXXXXX XXXXXXX
          XXXXXXX
            XXXX
              XXXX pgettext(u'column', u'Month') XXXXX
              XXX XXXXXXXXXXXX pgettext(u'column', u'Total') XXXXX
              XXXX pgettext(u'column', u'Issued') XXXXX
              XXXX
                XXXXX XXXXXXXXXXXXXXXXXXXXXXXX pgettext(u'column', u'Actions') XXXXXXX
              XXXXX
            XXXXX
          XXXXXXXX
          XXXXXXX
            BBB BBB BB BBBB
              XXX XXXXXXXXXXXBBB BBBBBBBBBBBBBBBBB BBBBBBBBBBBB BBBBBBBBBBBBBBBXX
                XXX XXXXXXXXXXXXX
                  XX XXXXXXXXXXXXX
                     XXXXXXBBB BBBBBBBBBBBBBBBBB BBBBBBBBBBBB BBBBBBBBBBBBBBBXXXXXX
                XXXXX
                XXX XXXXXXXXXXX XXXXXXXXXXXX pgettext(u'column', u'Total') XXXXXXX
                XXX XXXXXXXXXXXX pgettext(u'column', u'Issued') XXFFFXXXXX
                XXX XXXXXXXXXXXX
                  XX XXXXXXXXXX XXXXXX
                     XXXXXXBBB BBBBBBBBBBBBBBBBB BBBBBBBBBBBB BBBBBBBBBBBBBBBXXXXXXXXXXXXXXXX
                XXXXX
              XXXXX
            BBBBBB
          XXXXXXXX
        XXXXXXXX
      XXXXXX
    BBBB
       gettext(u'No statements yet') 
      XXXXXXXX XXXXXXXXX
         gettext(u'An operator issues the statement of a month after it has ended. Until then there is its draft.') 
        XXXXXXX XXXXXXXXXXXXXXX
          BBB BBBBBB BBBBBBBBBB BB BBBBBBBBBBBBBBBBB
            XX XXXXXXXXXX XXXXXXXX
               XXXXXXBBB BBBBBBBBBBBBBBBBB BBBBBBBBBBBB BBBBBBBBBBBBBBBBBBBBBBXX pgettext(u'button', u'Open the draft') XXXX
          BBBBBB
        XXXXXXXXX
      XXXXXXXXXX
    BBBBB
  XXXXXX
BBBBBBBB
