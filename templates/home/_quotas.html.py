BBBB BBBB BBBBBB
 #

XXXXXXXX XXXXXXX pgettext(u'heading', u'Quotas') X
         XXXXXXXXXXXXXXX
         XXXXXX pgettext(u'link', u'View all') XX
  XXXX XXXXXXXXXXXXXX XXXXXXXXXXXXXXX
    BBB B BB BBBBBB
      BBBBBBBBB BBBBBBB BBBBBBBBB
        XXXX
          BB BBBBBBB BB BBBBB
            
          BBBB BBBBBBB BB BBBBBB
             pgettext(u'heading', u'You') 
          BBBB
            
          BBBBB
        XXXXX
      BBBBBBBBBBBB
      BBBBBBB BBBBBBBBBBBBBBBBBBBBBBBBBBBBBB
    BBBBB
      XX XXXXXXXXXXXX XXXXXXX gettext(u'No limits apply to you or your teams.') XXXX
    BBBBBB
  XXXXXX
XXXXXXXXXX
