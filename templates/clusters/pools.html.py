BBBBBBB BBBBBBBBBBB
BBBB BBBBBB BBBB BBBBBB
 #
 #

BBBBB BBBBBXXXXXXXXXXXXXXXXXXXXXXBBBBBBBB
BBBBB BBBB
  XXXXX XXXXXXXXXXXXXXXX XXXXXXBBBBBB BBBBBBBBBBBBBBBBBXX
BBBBBBBB
BBBBB BBBBBBB
  BB BBBBBBBBB
     gettext(u'Groups of nodes, and the teams that can use them. A cluster without pools is open to all teams.') 
  BBBB
     gettext(u'Where your teams can run jobs, and what is free there.') 
  BBBBB
  XXXXXXX XXXXXXX pgettext(u'page title', u'Pools') X XXXXXXX
    XXXXXXX XXXXXXXXXXXXXXX
      XX XXXXXXXXXXX XXXXXXXXXXXXXXXXXXXXXX pgettext(u'button', u'GPU requests') XXXX
      BB BBBBBBBBB
        XX XXXXXXXXXXX XXXXXXXXXXXXXXXXXXXXXXXXXX gettext(u'Open in Platform') XXXX
      BBBBB
    XXXXXXXXX
  XXXXXXXXX
  XXXXXXXXXX XXXXXXXXXXXX XX
  BB BBBBBBBBB BB BBBBBBBBBB
    XXXXXXXX XXXXXXXXXXXX XX
  BBBB BBBBBBBBBBBBBBBBB BB BBBBBBBBBBBBBBBBBBBB
    BB BBBBBBBBBBBBBBBBB
       gettext(u'%(t)s has no access to a pool') SSSSS SSS SS SSSSSS SS S SSSS
    BBBB
       gettext(u'No pools on this cluster') 
    BBBBB
    XXXXXXXX XXXXXXXXX
      BB BBBBBBBBB
         gettext(u'Grant the team a pool, or open one to all teams.') 
      BBBB
         gettext(u'Ask a platform operator to give the team access to a pool.') 
      BBBBB
      XXXXXXX XXXXXXXXXXXXXXX
        BB BBBBBBBBB
          XX XXXXXXXXXX XXXXXXXX XXXXXXXXXXXXXXXXXXXXXXXXXX gettext(u'Open in Platform') XXXX
        BBBBB
        XX XXXXXXXXXXX XXXXXXXXX pgettext(u'button', u'Show all pools') XXXX
      XXXXXXXXX
    XXXXXXXXXX
  BBBB
    XXXXXXXX XXXXXXX gettext(u'Nowhere to run yet') XX
      BB BBBBBBBBB
         gettext(u'Connect a cluster. Until it has pools, every team can use it.') 
      BBBB
         gettext(u'Ask a platform operator to connect a cluster, or to give your team access to a pool.') 
      BBBBB
      XXXXXXX XXXXXXXXXXXXXXX
        BB BBBBBBBBB
          XX XXXXXXXXXX XXXXXXXX XXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX gettext(u'Connect a cluster') XXXX
        BBBBB
      XXXXXXXXX
    XXXXXXXXXX
  BBBBB
BBBBBBBB
